"""Ask a server over its socket whether it takes connections; a pid says nothing about that."""

import socket
import struct
from pathlib import Path
from typing import Literal

Answer = Literal["ready", "starting", "absent"]

_PARAMETERS = b"user\0postgres\0database\0postgres\0\0"
_STARTUP = struct.pack("!II", len(_PARAMETERS) + 8, 196608) + _PARAMETERS
_TERMINATE = b"X\0\0\0\4"
_CANNOT_CONNECT_NOW = b"C57P03\0"


def probe(socket_file: Path, *, patience: float = 5.0) -> Answer:
    """Knock once. A server that refuses us for any reason but starting up or shutting down is alive and ready."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(patience)
        try:
            connection.connect(str(socket_file))
            connection.sendall(_STARTUP)
            answer = connection.recv(1024)
            if answer[:1] == b"R":
                connection.sendall(_TERMINATE)
                while connection.recv(4096):  # to the end, or the server logs a broken connection
                    pass
        except OSError:
            return "absent"
    if not answer:
        return "absent"
    return "starting" if answer[:1] == b"E" and _CANNOT_CONNECT_NOW in answer else "ready"
