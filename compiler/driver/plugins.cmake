# SPDX-License-Identifier: MIT
# cmake -DOUT=FILE -DPLUGINS=A,B -P plugins.cmake - writes a header with a digest of the plugins.
string(REPLACE "," ";" plugins "${PLUGINS}")
set(digests "")
foreach(plugin ${plugins})
  file(SHA256 ${plugin} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUT} "#define COSY_PLUGINS \"${digest}\"\n")
