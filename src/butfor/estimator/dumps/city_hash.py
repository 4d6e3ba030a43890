"""CityHash64, version 1.0: the numbers that CatBoost gives to categories.

Texts are read in words of eight bytes, and four lengths have a way each (Pike and Alakuijala 2011, "CityHash").
All arithmetic is modulo 2^64. Version 1.1 and later give other numbers.
"""

from __future__ import annotations

from struct import unpack_from

LARGEST_HASH = 2**64 - 1
K0, K1, K2, K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
OF_PAIRS = 0x9DDFEA08EB382D69


def city_hash(text: bytes) -> int:
    """The hash of a text, from 0 to 2^64 - 1.

    >>> city_hash(b"")
    11160318154034397263
    """
    if len(text) <= 16:
        return _up_to_16(text)
    if len(text) <= 32:
        return _up_to_32(text)
    return _up_to_64(text) if len(text) <= 64 else _longer(text)


def _word(text: bytes, at: int) -> int:
    """The eight bytes at a place. A negative one counts from the end."""
    return int(unpack_from("<Q", text, at % len(text))[0])


def _turned(value: int, by: int) -> int:
    value &= LARGEST_HASH
    return ((value >> by) | (value << (64 - by))) & LARGEST_HASH


def _mixed(value: int) -> int:
    value &= LARGEST_HASH
    return value ^ (value >> 47)


def _pair(low: int, high: int) -> int:
    once = _mixed(((low ^ high) & LARGEST_HASH) * OF_PAIRS)
    return _mixed(((high & LARGEST_HASH) ^ once) * OF_PAIRS) * OF_PAIRS & LARGEST_HASH


def _up_to_16(text: bytes) -> int:
    size = len(text)
    if size > 8:
        last = _word(text, -8)
        return _pair(_word(text, 0), _turned(last + size, size)) ^ last
    if size >= 4:
        first, last = unpack_from("<I", text, 0)[0], unpack_from("<I", text, size - 4)[0]
        return _pair(size + (first << 3), last)
    if size > 0:
        low, high = text[0] + (text[size >> 1] << 8), size + (text[-1] << 2)
        return _mixed(low * K2 ^ high * K3) * K2 & LARGEST_HASH
    return K2


def _up_to_32(text: bytes) -> int:
    first, second = _word(text, 0) * K1, _word(text, 8)
    last, before = _word(text, -8) * K2, _word(text, -16) * K0
    return _pair(
        _turned(first - second, 43) + _turned(last, 30) + before,
        first + _turned(second ^ K3, 20) - last + len(text),
    )


def _up_to_64(text: bytes) -> int:
    begin, begin_turned = _half(
        _word(text, 0) + (len(text) + _word(text, -16)) * K0, _word(text, 8), _word(text, 16), _word(text, 24)
    )
    end, end_turned = _half(_word(text, 16) + _word(text, -32), _word(text, -24), _word(text, -16), _word(text, -8))
    both = _mixed((begin + end_turned) * K2 + (end + begin_turned) * K0)
    return _mixed(both * K0 + begin_turned) * K2 & LARGEST_HASH


def _half(first: int, second: int, third: int, last: int) -> tuple[int, int]:
    turned, other = _turned(first + last, 52), _turned(first, 37)
    other += _turned(first + second, 7)
    total = first + second + third
    return total + last, turned + _turned(total, 31) + other


def _longer(text: bytes) -> int:
    """Blocks of 64 bytes, from the first one on. The end is hashed before, and there may overlap with the last block."""
    size = len(text)
    x, y, z = _word(text, 0), _word(text, -16) ^ K1, _word(text, -56) ^ K0
    v = _block(text, size - 64, size, y)
    w = _block(text, size - 32, size * K1, K0)
    z += _mixed(v[1]) * K1
    x = _turned(z + x, 39) * K1
    y = _turned(y, 33) * K1
    for at in range(0, (size - 1) // 64 * 64, 64):
        x = _turned(x + y + v[0] + _word(text, at + 16), 37) * K1
        y = _turned(y + v[1] + _word(text, at + 48), 42) * K1
        x, y = x ^ w[1], y ^ v[0]
        z = _turned(z ^ w[0], 33)
        v = _block(text, at, v[1] * K1, x + w[0])
        w = _block(text, at + 32, z + w[1], y)
        z, x = x, z
    return _pair(_pair(v[0], w[0]) + _mixed(y) * K1 + z, _pair(v[1], w[1]) + x)


def _block(text: bytes, at: int, first: int, second: int) -> tuple[int, int]:
    """Thirty-two bytes, and two numbers that go before."""
    w, x, y, z = unpack_from("<4Q", text, at)
    first += w
    second = _turned(second + first + z, 21)
    total = first + x + y
    return (total + z) & LARGEST_HASH, (second + _turned(total, 44) + first) & LARGEST_HASH
