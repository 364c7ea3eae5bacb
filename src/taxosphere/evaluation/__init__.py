"""How good a method is: metrics, the protocol that hides and asks, significance, benches and studies."""
