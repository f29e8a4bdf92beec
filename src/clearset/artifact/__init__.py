"""The file format: one zip of JSON, safetensors and further members, with checksums and no code."""

from clearset.artifact._format import Artifact, ArtifactError
from clearset.artifact._read import read_artifact, unpack_artifact
from clearset.artifact._write import check_target, pack_artifact, write_artifact, write_file

__all__ = [
    "Artifact",
    "ArtifactError",
    "check_target",
    "pack_artifact",
    "read_artifact",
    "unpack_artifact",
    "write_artifact",
    "write_file",
]
