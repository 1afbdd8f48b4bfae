"""Robots rendered by MuJoCo without a screen, with the constraint drawn in.

The forbidden side of z = -1 lies under a red carpet, a translucent wall stands at
its edge, and lines on the floor are a metre apart.
"""

from __future__ import annotations

import atexit
import ctypes
import os
from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np

from icl_core.environments.robot import LIMIT, Robot, capsules, load_model
from icl_core.errors import InputError

LIBRARIES = {
    "egl": ("libEGL.so.1",),
    "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"),
}
PIXELS = (640, 400)
HALF_WIDTH, HALF_HEIGHT = 1.5, 0.5  # of the wall, metres
END = 40.0  # of the floor, on all sides
LINE = 0.007  # half the width of the lines
FINER = 2  # pixels are means of so many squared: edges are smooth whatever the driver can do
FLOOR, LINES, SHADOW, CARPET, WALL = (
    np.array(rgba, dtype=np.float32)
    for rgba in (
        (0.86, 0.88, 0.90, 1),
        (0.62, 0.65, 0.70, 1),
        (0.66, 0.68, 0.71, 1),
        (0.95, 0.71, 0.61, 1),
        (0.92, 0.36, 0.10, 0.30),
    )
)


@dataclass(frozen=True)
class View:
    """Where the camera stands: it looks along +y, so that z grows to the right."""

    centre: tuple[float, float, float] = (-0.35, 0.0, 0.3)
    distance: float = 3.9
    azimuth: float = 112.0
    elevation: float = -20.0


@dataclass(frozen=True)
class Rendering:
    """An image and how points of the world lie in it."""

    image: np.ndarray  # (height, width, 3) uint8
    projection: np.ndarray  # (3, 4): homogeneous world point to homogeneous pixel

    def pixels(self, points: np.ndarray) -> np.ndarray:
        """Columns and rows, (n, 2), of world points (n, 3)."""
        homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
        column, row, depth = self.projection @ homogeneous.T
        return np.stack([column / depth, row / depth], axis=1)


def picture(world: Robot, state: np.ndarray) -> np.ndarray:
    """MuJoCo's rendering, which follows the robot sideways."""
    _, y, height = View.centre
    return render(world, state, view=View(centre=(float(state[0]), y, height))).image


def render(
    world: Robot, state: np.ndarray, size: tuple[int, int] = PIXELS, view: View | None = None
) -> Rendering:
    """The robot in that state; an InputError where there is no headless OpenGL."""
    return _stage(world.model_file, size).show(state, view or View())


def backend() -> str:
    """Which headless OpenGL to use: as MUJOCO_GL says, else the first that is installed."""
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    for name, libraries in LIBRARIES.items():
        if (not wanted or name == wanted) and any(map(_loads, libraries)):
            return name
    raise InputError(
        "rendering a robot needs EGL or OSMesa, found neither"
        + (f" as MUJOCO_GL={wanted} asks for" if wanted else "")
        + "; install one (on Debian: apt install libegl1 libgl1-mesa-dri) and set MUJOCO_GL to"
        " egl, to osmesa, or not at all"
    )


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _context(width: int, height: int):
    """A current OpenGL context that needs no screen."""
    if backend() == "egl":
        from mujoco.egl import GLContext
    else:
        from mujoco.osmesa import GLContext
    context = GLContext(width, height)
    context.make_current()
    return context


class _Stage:
    """A model and the buffers of OpenGL to draw it with: slow to make, so made once."""

    def __init__(self, model_file: str, size: tuple[int, int]):
        width, height = (FINER * pixels for pixels in size)
        self.gl = _context(width, height)
        self.model = _dressed(load_model(model_file))
        self.model.vis.global_.offwidth, self.model.vis.global_.offheight = width, height
        self.data = mujoco.MjData(self.model)
        self.scene = mujoco.MjvScene(self.model, maxgeom=200)
        # Mesa's software driver draws stripes for shadows: ours lie on the floor as things.
        self.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
        self.context = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self.context)
        self.rectangle = mujoco.MjrRect(0, 0, width, height)
        atexit.register(self.close)  # before MuJoCo ends the display, which it does there too

    def show(self, state: np.ndarray, view: View) -> Rendering:
        self.gl.make_current()
        self.data.qpos[:] = state[: self.model.nq]
        mujoco.mj_forward(self.model, self.data)
        camera = mujoco.MjvCamera()
        camera.lookat[:], camera.distance = view.centre, view.distance
        camera.azimuth, camera.elevation = view.azimuth, view.elevation
        everything = mujoco.mjtCatBit.mjCAT_ALL
        options, nobody = mujoco.MjvOption(), mujoco.MjvPerturb()
        mujoco.mjv_updateScene(
            self.model, self.data, options, nobody, camera, everything, self.scene
        )
        _draw_constraint(self.scene)
        _draw_shadows(self.scene, self.model, self.data)
        mujoco.mjr_render(self.rectangle, self.scene, self.context)
        width, height = self.rectangle.width, self.rectangle.height
        image = np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(image, None, self.rectangle, self.context)
        size = width // FINER, height // FINER
        fine = np.flipud(image).reshape(size[1], FINER, size[0], FINER, 3)  # lowest row came first
        return Rendering(fine.mean(axis=(1, 3)).astype(np.uint8), _projection(self.scene, *size))

    def close(self) -> None:
        self.gl.make_current()
        self.context.free()
        self.gl.free()


@lru_cache(maxsize=4)
def _stage(model_file: str, size: tuple[int, int]) -> _Stage:
    name = backend()
    try:
        return _Stage(model_file, size)
    except Exception as error:  # drivers fail in as many ways as there are drivers
        raise InputError(
            f"rendering a robot needs a working {name.upper()}, found one that fails ({error}); "
            "set MUJOCO_GL to the other of egl and osmesa, or install Mesa's software driver "
            "(on Debian: apt install libgl1-mesa-dri)"
        ) from error


def _dressed(model: mujoco.MjModel) -> mujoco.MjModel:
    """The model on a plain bright floor before a white sky."""
    model.vis.map.fogstart, model.vis.map.fogend = 100, 200
    model.light_diffuse[:], model.vis.headlight.diffuse[:] = 0.55, 0.3
    model.vis.headlight.ambient[:] = 0.25
    floor = model.geom("floor").id
    model.geom_matid[floor], model.geom_rgba[floor] = -1, FLOOR
    for texture in range(model.ntex):
        if model.tex_type[texture] == mujoco.mjtTexture.mjTEXTURE_SKYBOX:
            first = model.tex_adr[texture]
            size_of = model.tex_height[texture] * model.tex_width[texture]
            model.tex_data[first : first + size_of * model.tex_nchannel[texture]] = 255
    return model


def _draw_constraint(scene: mujoco.MjvScene) -> None:
    middle, half = (LIMIT - END) / 2, (LIMIT + END) / 2
    plane, box = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_BOX
    _add(scene, plane, (middle, 0, 0.002), (half, END, 0.1), CARPET)
    for metre in range(-15, 16):
        _add(scene, plane, (metre, 0, 0.004), (LINE, END, 0.1), LINES)
    _add(scene, box, (LIMIT, 0, HALF_HEIGHT), (0.012, HALF_WIDTH, HALF_HEIGHT), WALL)


def _draw_shadows(scene: mujoco.MjvScene, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Light from right above: a disc under each end of a capsule, and a strip between them."""
    disc, strip = mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_BOX
    for ends, radius in capsules(model, data):
        feet = ends * (1, 1, 0) + (0, 0, 0.005)
        for foot in feet:
            _add(scene, disc, foot, (radius, 0.0005, 0), SHADOW)
        along = feet[1] - feet[0]
        length = np.linalg.norm(along)
        if length > 0:
            x, y, _ = along / length
            turn = np.array([[x, -y, 0], [y, x, 0], [0, 0, 1]])
            _add(scene, strip, feet.mean(axis=0), (length / 2, radius, 0.0005), SHADOW, turn)


def _add(scene: mujoco.MjvScene, kind: mujoco.mjtGeom, centre, half_sizes, rgba, turn=None) -> None:
    geom = scene.geoms[scene.ngeom]
    sizes, centre = (np.array(v, dtype=np.float64) for v in (half_sizes, centre))
    turn = np.eye(3) if turn is None else turn
    mujoco.mjv_initGeom(geom, kind, sizes, centre, turn.ravel(), rgba)
    if rgba[3] < 1:  # it shines by itself: the light comes from above
        geom.transparent, geom.emission = 1, 0.8
    scene.ngeom += 1


def _projection(scene: mujoco.MjvScene, width: int, height: int) -> np.ndarray:
    """World points to pixels, from the mean of the scene's two eyes."""
    left, right = scene.camera
    position = (np.array(left.pos) + np.array(right.pos)) / 2
    forward, up = np.array(left.forward), np.array(left.up)
    axes = np.stack([np.cross(forward, up), -up, forward])  # rightwards, downwards, away
    half_height = (left.frustum_top - left.frustum_bottom) / 2
    focal = height / 2 * left.frustum_near / half_height
    intrinsic = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])
    return intrinsic @ np.concatenate([axes, -(axes @ position)[:, None]], axis=1)
