"""Makes runs: executes systems, has their answers judged, and seals what came back."""
