"""What an unquoted YAML word means to kubectl, which differs from PyYAML in places that bite.

`yes` is true for both, but `6e1` is text for PyYAML and a number for kubectl, `1:30` a number for PyYAML and text for
kubectl, and dates are text. The rules here are those of the YAML library that kubectl and the API server use.
"""

import math
import re

Scalar = str | int | float | bool | None

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII)
_LONGEST_NUMBER = 400
_BASES = {"x": 16, "o": 8, "b": 2}


def plain_value(text: str) -> Scalar:
    """The value of an unquoted word.

    Raises:
        ValueError: infinity and not-a-number, which JSON cannot carry.
    """
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _NOT_JSON.fullmatch(text):
        raise ValueError(f"{text} is not a number that JSON can carry")
    digits = text.replace("_", "") if text[0] in "+-.0123456789" else ""
    if not digits or len(digits) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(digits):
        return _integer(digits)
    if _FLOAT.fullmatch(digits):
        return _json_number(float(digits))
    return text


def _integer(digits: str) -> int | float:
    sign, body = (-1, digits[1:]) if digits[0] == "-" else (1, digits.lstrip("+"))
    base = 10
    if body[0] == "0" and len(body) > 1:
        base = _BASES.get(body[1].lower(), 8)
        body = body[2:] if body[1].isalpha() else body[1:]
    value = sign * int(body or "0", base)
    return value if -(2**63) <= value < 2**63 else float(value)


def _json_number(value: float) -> int | float:
    """Go writes a float without a fraction as an integer below 1e21, and reads it back as one where it fits."""
    if math.isinf(value):
        raise ValueError("the number is too large")
    whole = value.is_integer() and -(2**63) <= value < 2**63
    return int(value) if whole else value
