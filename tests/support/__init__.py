"""What several tests share: small encoders, made-up taxonomies, malformed files."""
