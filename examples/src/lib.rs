//! Examples, each a program of its own in `src/bin`. All of them read `application.yaml` in this folder.
