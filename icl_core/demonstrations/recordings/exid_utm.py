"""UTM: latitude and longitude to metres east and north, and back.

Krüger's series in the third flattening n up to n^4 (Karney 2011, "Transverse
Mercator with an accuracy of a few nanometers", eqs. 7-11 and 35-36), on WGS84 and
for the northern hemisphere, where all ExiD locations are. Cut off there it is
right to far less than a millimetre within a zone. The lanelet2 package has such a
projection too, one point a call and without a way to name the zone; the tests hold
the two against each other.
"""

from __future__ import annotations

import numpy as np

SEMI_MAJOR_AXIS = 6_378_137.0
FLATTENING = 1 / 298.257223563
SCALE = 0.9996
FALSE_EASTING = 500_000.0

_N = FLATTENING / (2 - FLATTENING)
_ECCENTRICITY = np.sqrt(FLATTENING * (2 - FLATTENING))
_RADIUS = SEMI_MAJOR_AXIS / (1 + _N) * (1 + _N**2 / 4 + _N**4 / 64)
_FORWARD = (
    _N / 2 - 2 * _N**2 / 3 + 5 * _N**3 / 16 + 41 * _N**4 / 180,
    13 * _N**2 / 48 - 3 * _N**3 / 5 + 557 * _N**4 / 1440,
    61 * _N**3 / 240 - 103 * _N**4 / 140,
    49561 * _N**4 / 161280,
)
_BACKWARD = (
    _N / 2 - 2 * _N**2 / 3 + 37 * _N**3 / 96 - _N**4 / 360,
    _N**2 / 48 + _N**3 / 15 - 437 * _N**4 / 1440,
    17 * _N**3 / 480 - 37 * _N**4 / 840,
    4397 * _N**4 / 161280,
)


def utm_zone(longitude: float) -> int:
    """The zone, 1 to 60, that a longitude in degrees falls into."""
    return int((longitude + 180) // 6) % 60 + 1


def to_utm(latitude, longitude, zone: int) -> tuple[np.ndarray, np.ndarray]:
    """Degrees to (easting, northing) in metres."""
    phi = np.radians(latitude)
    lam = np.radians(longitude) - _meridian(zone)
    tau = np.tan(_conformal(phi))
    xi = np.arctan2(tau, np.cos(lam))
    eta = np.arcsinh(np.sin(lam) / np.hypot(tau, np.cos(lam)))
    zeta = xi + 1j * eta
    moved = zeta + sum(a * np.sin(2 * k * zeta) for k, a in enumerate(_FORWARD, start=1))
    return (
        FALSE_EASTING + SCALE * _RADIUS * np.imag(moved),
        SCALE * _RADIUS * np.real(moved),
    )


def from_utm(easting, northing, zone: int) -> tuple[np.ndarray, np.ndarray]:
    """Metres to (latitude, longitude) in degrees."""
    east = (np.asarray(easting, dtype=np.float64) - FALSE_EASTING) / (SCALE * _RADIUS)
    moved = np.asarray(northing, dtype=np.float64) / (SCALE * _RADIUS) + 1j * east
    zeta = moved - sum(b * np.sin(2 * k * moved) for k, b in enumerate(_BACKWARD, start=1))
    xi, eta = np.real(zeta), np.imag(zeta)
    conformal = np.arctan2(np.sin(xi), np.hypot(np.sinh(eta), np.cos(xi)))
    lam = np.arctan2(np.sinh(eta), np.cos(xi))
    phi = conformal
    for _ in range(6):  # each pass gains a factor of e^2 = 1/150
        phi = phi + conformal - _conformal(phi)
    return np.degrees(phi), np.degrees(lam + _meridian(zone))


def _meridian(zone: int) -> float:
    """The zone's central meridian in radians."""
    return np.radians(6 * zone - 183)


def _conformal(phi):
    """The conformal latitude of a latitude, both in radians."""
    sine = np.sin(phi)
    return np.arctan(
        np.sinh(np.arcsinh(np.tan(phi)) - _ECCENTRICITY * np.arctanh(_ECCENTRICITY * sine))
    )
