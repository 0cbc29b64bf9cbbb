"""Controls: systems that memeval ships to calibrate tracks, run through the same door as everyone's."""

from memeval.systems.controls.table import CONTROLS, EXTRACTIVE, NATIVE, Control, all_controls, controls_of

__all__ = ["CONTROLS", "EXTRACTIVE", "NATIVE", "Control", "all_controls", "controls_of"]
