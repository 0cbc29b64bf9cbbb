"""Drivers are files beside each other in a system's own process: here they find one another in the same way."""

import sys
from pathlib import Path

import memeval

sys.path.append(str(Path(memeval.__file__).parent / "systems/drivers"))
