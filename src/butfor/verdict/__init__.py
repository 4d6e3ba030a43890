"""The estimator's word on every answer, and the certificate that holds it."""
