"""The error tree. A class says what the operator does about it.

OperatorError
├── ConfigurationError    the program ends with code 2 and one line
└── ApiError              the API server said no
    ├── Transient         tried again with back-off: 401, 429, 5xx, no connection
    ├── Conflict          tried again from a fresh view: 409
    ├── NotFound          404
    ├── AlreadyExists     409 on create
    ├── Rejected          a person has to mend the manifest: 400, 422
    ├── Forbidden         a person has to grant a right, or the namespace is going: 403
    └── Fenced            another replica leads; nothing may be written any more
"""


class OperatorError(Exception):
    """Root of every error that the operator raises on purpose."""


class ConfigurationError(OperatorError):
    """Settings that cannot work; the message names the remedy."""


class ApiError(OperatorError):
    """The API server's answer, without the object that was sent."""


class Transient(ApiError):  # noqa: N818
    """Nothing is wrong with the request. `retry_after`: seconds the server asks for, 0 where it asks for none."""

    def __init__(self, message: str, retry_after: float = 0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Conflict(ApiError):  # noqa: N818
    """The object is not what the view says."""


class NotFound(ApiError):  # noqa: N818
    """There is no such object, or no such kind."""


class AlreadyExists(ApiError):  # noqa: N818
    """There is such an object already."""


class Rejected(ApiError):  # noqa: N818
    """The object is not valid, or an admission policy refuses it."""


class Forbidden(ApiError):  # noqa: N818
    """The right is missing. `terminating`: it is the namespace that is being deleted."""

    def __init__(self, message: str, *, terminating: bool = False) -> None:
        super().__init__(message)
        self.terminating = terminating


class Fenced(ApiError):  # noqa: N818
    """The Lease is lost."""
