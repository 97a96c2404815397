"""The pieces of a text that a similarity hash is made of: every eight bytes in a row, hashed, those with small hashes.

Plain Python over flat arrays; compiled where there is a C compiler (`pieces.pxd` gives the types).
"""

from typing import Final

__all__ = ["PIECE", "chosen_pieces", "voted_bits"]

PIECE: Final = 8

# The names below have C types in pieces.pxd.
_PIECE = PIECE
_MASK = (1 << 64) - 1
_SPREAD = 0x9E3779B97F4A7C15
_SPREAD_AGAIN = 0xC2B2AE3D27D4EB4F


def chosen_pieces(text: bytes, folded: bytes, most: int, chosen: "memoryview[int]") -> int:
    """Write the hashes up to `most` of all pieces of a text into `chosen`, which has room for all; how many they are.

    The text has at least one piece. `folded` says for each byte which one it counts as.
    """
    piece, count = 0, 0
    for at in range(_PIECE - 1):
        byte = folded[text[at]]
        piece = piece >> 8 | byte << 56
    for at in range(_PIECE - 1, len(text)):
        byte = folded[text[at]]
        piece = piece >> 8 | byte << 56
        mark = piece * _SPREAD & _MASK
        mark = (mark ^ mark >> 29) * _SPREAD_AGAIN & _MASK
        if mark <= most:
            chosen[count] = mark
            count += 1
    return count


def voted_bits(hashes: "memoryview[int]", count: int) -> int:
    """The bits that more than half of the first `count` hashes have, spread once more; equal neighbours vote once."""
    votes = [0] * 64
    voters, last = 0, 0
    for at in range(count):
        mark = hashes[at]
        if at and mark == last:
            continue
        last = mark
        voters += 1
        mark = mark * _SPREAD & _MASK
        mark = (mark ^ mark >> 32) * _SPREAD_AGAIN & _MASK
        for bit in range(64):
            votes[bit] += mark >> bit & 1
    result = 0
    for bit in range(63, -1, -1):
        result = 2 * result + (2 * votes[bit] > voters)
    return result
