"""The whole site: pages and the guide in one frame, written to a folder."""
