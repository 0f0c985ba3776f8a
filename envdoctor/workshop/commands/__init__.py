"""The commands of ``envdoctor rules`` that write, prove and measure; :mod:`envdoctor.commands.rules` names them."""
