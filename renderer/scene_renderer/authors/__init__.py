"""What scenes import of the renderer: parameters, narration, and slides."""
