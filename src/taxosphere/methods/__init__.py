"""Every scorer that `evaluate` and `bench` accept: Polaris, its variants, and the compared systems."""
