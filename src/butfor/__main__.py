"""`python -m butfor` is the command `butfor`."""

from butfor.cli import main

if __name__ == "__main__":
    main()
