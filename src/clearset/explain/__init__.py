"""What draws: plots of models and explanations, and what notebooks show of them."""

from clearset.explain._notebook import certificate_html, explanation_html, model_html
from clearset.explain.plots import (
    plot_calibrators,
    plot_history,
    plot_lattice,
    plot_partial_dependence,
    plot_quality,
    plot_rho,
    plot_waterfall,
)

__all__ = [
    "certificate_html",
    "explanation_html",
    "model_html",
    "plot_calibrators",
    "plot_history",
    "plot_lattice",
    "plot_partial_dependence",
    "plot_quality",
    "plot_rho",
    "plot_waterfall",
]
