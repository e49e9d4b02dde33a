"""What a user can mend: raised anywhere in the harness, printed by the command line as one sentence, exit status 2."""

from __future__ import annotations


class Problem(Exception):
    """Wrong use or an unusable file. The message is one sentence that names the place and what to do."""


class DataMissing(Problem):
    """A fixture needs a data file that is not at hand; the message says which one and where to put it."""
