"""The content security policy of every page: the site's own script files, and two inline scripts by fixed hashes.

Nothing is computed from a page: a script that came into it in another way does not run.
"""

SCRIPTS = (
    "0i4RhMHaljA7YRXqTnaW+6PgwSo+oyvNEno4Q84T8CI=",  # templates/frame/scheme.js
    "jKy0D/Dy9CA/LQ5Anj3Jb0cehgVr3aAFllhMizC3Jpk=",  # the page for an address that does not exist
)
"""SHA-256 of the inline scripts, in base64; a test holds them against the scripts."""

_ALLOWED = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in SCRIPTS)])

POLICY = (
    f"default-src 'self'; script-src {_ALLOWED}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'"
)
