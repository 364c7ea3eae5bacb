from hypothesis import settings

# No time limit: a busy machine is no failure.
settings.register_profile("taxosphere", deadline=None, max_examples=60)
settings.load_profile("taxosphere")
