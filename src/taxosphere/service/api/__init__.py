"""Routes of the REST API below ``/api/v1``, one file per subject."""
