"""Who uses the console: how one is recognised, and what is known of those who may."""
