"""How a command is told to end: SIGTERM as an exception, and signals that got lost sent again."""

from __future__ import annotations

import signal
import sys
import threading


class Terminated(BaseException):
    """Another process asks this one to end: what is half done is undone on the way out, as after Ctrl-C."""


def terminate(*_: object) -> None:
    """The handler of SIGTERM: raises once, and is deaf from then on."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


def send_again(lost: sys.UnraisableHookArgs) -> None:
    """A signal that came where Python cannot raise, in a callback of the compiler's, is sent once more a moment later."""
    if lost.exc_type is KeyboardInterrupt:
        number = signal.SIGINT
    elif lost.exc_type is Terminated:
        signal.signal(signal.SIGTERM, terminate)
        number = signal.SIGTERM
    else:
        sys.__unraisablehook__(lost)
        return
    threading.Timer(0.01, signal.raise_signal, (number,)).start()
