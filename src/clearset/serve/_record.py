"""What is known of one request while it is answered."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from clearset.serve._errors import ERRORS
from clearset.serve._json_bodies import answer, written
from clearset.serve._work import Outcome


@dataclass
class Record:
    """What is known of a request; nothing that it says, for this may be people's data."""

    identifier: str
    method: str
    route: str
    status: int = 0
    seconds: float = 0.0
    code: str = ""
    received: int = 0
    sent: int = 0
    sets: int = 0
    tokens: int = 0
    failure: str = ""

    def add(self, outcome: Outcome) -> None:
        """Take over what a computation says of itself."""
        self.code, self.failure = outcome.code, outcome.failure
        self.sets, self.tokens = outcome.sets, outcome.tokens

    def refusal(self, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
        """Return the response of an error: its code, a sentence, and the identifier of the request."""
        self.code = code
        found = {"code": code, "message": " ".join(message.split())[:2000], "request_id": self.identifier}
        return answer(written(found), ERRORS[code].status, headers)
