# The formats of jq that the interpreter's library lacks.
def csv_field:
  if isstring then "\"" + gsub("\""; "\"\"") + "\""
  elif . == null then ""
  elif isboolean or isnumber then tostring
  else error("\(type) is not valid in a csv row") end;
def @csv: map(csv_field) | join(",");
def tsv_field:
  if isstring then gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") | gsub("\r"; "\\r")
  elif . == null then ""
  elif isboolean or isnumber then tostring
  else error("\(type) is not valid in a tsv row") end;
def @tsv: map(tsv_field) | join("\t");
