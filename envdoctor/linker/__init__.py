"""What installed distributions use from each other and the standard library, resolved without executing anything.

``layout`` lists the modules of each distribution, ``reader`` summarises one, ``store`` keeps summaries beyond the
environment, ``resolve`` answers what a module offers, ``reach`` follows imports, and ``findings`` says what is missing.
``history`` knows which public names of a distribution were in which releases, and ``surface`` reads these names.
"""
