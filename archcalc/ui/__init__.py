"""The explorer: questions of its page as plain data, the server that answers them, and the page itself (`static`)."""
