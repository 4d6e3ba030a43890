"""What the estimator itself says about every answer, and the certificate that records it."""
