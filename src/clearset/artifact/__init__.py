"""The file format: one zip of JSON, safetensors and further members, with checksums and no code; tables as Parquet."""

from clearset.artifact._files import check_target, read_file, remove_file, replaced_file, write_file
from clearset.artifact._format import Artifact, ArtifactError
from clearset.artifact._lock import locked
from clearset.artifact._parquet import PARQUET, ParquetFormat, read_rows
from clearset.artifact._read import read_artifact, unpack_artifact
from clearset.artifact._signed import is_signed
from clearset.artifact._write import clearset_version, pack_artifact, write_artifact

__all__ = [
    "PARQUET",
    "Artifact",
    "ArtifactError",
    "ParquetFormat",
    "check_target",
    "clearset_version",
    "is_signed",
    "locked",
    "pack_artifact",
    "read_artifact",
    "read_file",
    "read_rows",
    "remove_file",
    "replaced_file",
    "unpack_artifact",
    "write_artifact",
    "write_file",
]
