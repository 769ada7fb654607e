"""What the server says over HTTP: the API, and the pages for people."""
