"""Connect nodes by names, stored edges and code, and spread relevance along the links."""
