"""Properties are checked for what they say, not for how busy the machine is."""

from hypothesis import settings

settings.register_profile("memeval", deadline=None)
settings.load_profile("memeval")
