"""What every store does with vectors and token codes.

Check them on the way in, keep vectors as float16, compare them exactly.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from clew.errors import InputError
from clew.token_codes import MAX_TOKENS, bytes_per_token
from clew.types import Vectors

Halves: TypeAlias = npt.NDArray[np.float16]

# float16 rounding moves a norm by 5e-4, int8 models by less; a forgotten normalisation by far more
UNIT_TOLERANCE = 1e-2


def as_unit(vector: npt.ArrayLike, dimension: int) -> Vectors:
    """Return the vector as float32, or refuse it when its shape, its length or one of its numbers is wrong.

    >>> as_unit([0.6, 0.8], 2).dtype
    dtype('float32')
    """
    try:
        checked = np.ascontiguousarray(vector, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(
            "vector", vector, "is not an array of numbers", "Pass the embedder's vector as it is."
        ) from error
    if checked.shape != (dimension,):
        raise InputError(
            "vector",
            checked.shape,
            f"must have the shape ({dimension},)",
            "Embed with the model of this store.",
        )
    norm = math.sqrt(checked.dot(checked))
    if abs(norm - 1.0) <= UNIT_TOLERANCE:  # never true of NaN
        return checked
    if not np.isfinite(checked).all():
        raise InputError(
            "vector", vector, "holds NaN or infinity", "Check the text or the model that gave it."
        )
    raise InputError(
        "vector",
        norm,
        "must have length 1",
        "Divide it by its norm before it is stored or searched.",
    )


def as_codes(tokens: bytes | None, dimension: int) -> bytes | None:
    """Return token codes as they are, or refuse them when they are not those of whole tokens or of too many."""
    if tokens is None:
        return None
    if fault := codes_fault(tokens, dimension):
        raise InputError(
            "tokens",
            f"{type(tokens).__name__} of length {len(tokens)}",
            fault,
            "Pass what clew.token_codes.pack returns.",
        )
    return tokens


def codes_fault(codes: object, dimension: int) -> str | None:
    """Return why a value is no token codes of vectors of this dimension; None if it can be."""
    if type(codes) is not bytes:
        return "is not bytes"
    tokens, rest = divmod(len(codes), bytes_per_token(dimension))
    if rest:
        return f"does not hold {bytes_per_token(dimension)} bytes for each token"
    return f"holds {tokens} tokens, more than {MAX_TOKENS}" if tokens > MAX_TOKENS else None


def exact_cosines(rows: Halves, query: Vectors) -> npt.NDArray[np.float64]:
    """Return the cosine of each stored row with the query, the same whichever rows stand beside it.

    A matrix product would be quicker, but BLAS picks its order of summing by the number of rows.

    >>> exact_cosines(np.array([[0.0, 1.0], [1.0, 0.0]], np.float16), np.array([0.0, 1.0], np.float32)).tolist()
    [1.0, 0.0]
    """
    products = rows.astype(np.float64, order="C")
    products *= query  # in place: no second array of this size
    cosines: npt.NDArray[np.float64] = products.sum(axis=1)
    return cosines
