-- Sends the requests of a file that bench/load/requests.ts wrote. Arguments: the file, the first key.
local requests, at, key = {}, 0, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local text = file:read("*a")
  file:close()
  key = tonumber(args[2]) - 1
  local position = 1
  local function line()
    local finish = text:find("\n", position, true)
    local found = text:sub(position, finish - 1)
    position = finish + 1
    return found
  end
  while position <= #text do
    local count = tonumber(line())
    local pieces = {}
    for i = 1, count do
      local mark, length = line():match("^(.) (%d+)$")
      length = tonumber(length)
      pieces[i] = { mark = mark, bytes = text:sub(position, position + length - 1) }
      position = position + length
    end
    requests[#requests + 1] = count == 1 and pieces[1].bytes or pieces
  end
end

function request()
  at = at % #requests + 1
  local found = requests[at]
  if type(found) == "string" then return found end
  local out = {}
  for i = 1, #found do
    local piece = found[i]
    if piece.mark == "n" then key = key + 1 end
    if piece.mark ~= "-" then out[#out + 1] = key end
    out[#out + 1] = piece.bytes
  end
  return table.concat(out)
end

function done(summary)
  local e = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"micros":%d,"failed":%d,"broken":%d}\n',
    summary.requests, summary.duration, e.status, e.connect + e.read + e.write + e.timeout))
end
