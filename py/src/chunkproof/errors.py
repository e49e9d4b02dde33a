"""The one way to say no: a code that engines share, and a message for people (spec 01, Errors)."""

CODES = ("bad_request", "bad_text", "bad_setting", "unsupported", "bad_vectors", "internal")
"""In the order in which they are checked; the first that applies is the reply's."""


class Refused(Exception):
    """Something that the spec says must be refused. `code` is compared between engines, `message` is not."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
