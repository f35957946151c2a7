"""What scenes import of the renderer: parameters.

``from scenepress_scene import param`` works in every scene that Scenepress renders.
"""

from scene_renderer.authors.params import param

__all__ = ["param"]
