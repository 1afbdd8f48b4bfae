"""Pictures of states, one file per family of worlds, each with `picture(world, state)`.

A world names its file in `drawing`. A picture is (height, width, 3) uint8, for Gymnasium's
"rgb_array" mode: plain NumPy, but for robots.
"""

WHITE, GREY, RED = (255, 255, 255), (225, 225, 225), (222, 143, 143)
GREEN, BLUE, DARK = (120, 180, 120), (40, 90, 170), (40, 40, 40)
