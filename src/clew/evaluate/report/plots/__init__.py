"""The plots of a report, each a function from a result to an SVG picture.

Empty where there is nothing to draw.
"""

from clew.evaluate.report.plots.ablations import ablation_plot
from clew.evaluate.report.plots.categories import category_plot
from clew.evaluate.report.plots.costs import cost_plots
from clew.evaluate.report.plots.deltas import delta_plots

__all__ = ["ablation_plot", "category_plot", "cost_plots", "delta_plots"]
