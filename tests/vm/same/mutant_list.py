# SPDX-License-Identifier: MIT
"""The guards of the module that mutants.py breaks, one after the other.

A place is a piece of a file that is there once.  `by` is the test that is to notice, which is asked
first.  A mutant that is `harmless` changes no result of any call; why is said there.
"""

from mutants_answers import MUTANTS as _ANSWERS
from mutants_fast import MUTANTS as _FAST
from mutants_format import MUTANTS as _FORMAT
from mutants_load import MUTANTS as _LOAD
from mutants_move import MUTANTS as _MOVE
from mutants_move_files import MUTANTS as _MOVE_FILES
from mutants_names import MUTANTS as _NAMES
from mutants_run import MUTANTS as _RUN
from mutants_setattr import MUTANTS as _SETATTR
from mutants_view import MUTANTS as _VIEW
from mutants_watch import MUTANTS as _WATCH
from mutants_write import MUTANTS as _WRITE

MUTANTS = [
    *_FAST,
    *_NAMES,
    *_SETATTR,
    *_FORMAT,
    *_VIEW,
    *_WRITE,
    *_MOVE,
    *_MOVE_FILES,
    *_RUN,
    *_LOAD,
    *_ANSWERS,
    *_WATCH,
]
