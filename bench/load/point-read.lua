-- POST a read of one random key. Arguments: token, "sql" or "peer", rows.
local here = debug.getinfo(1, "S").source:match("@(.*/)")
dofile(here .. "result.lua")
local headers = { ["Content-Type"] = "application/json" }
local sql, rows

function init(args)
  headers["Authorization"] = "Bearer " .. args[1]
  sql = args[2] == "sql"
  rows = tonumber(args[3])
  math.randomseed(7)
end

function request()
  local id = math.random(1, rows)
  local body
  if sql then
    body = '{"sql":"SELECT id, name, balance FROM accounts WHERE id = $1","parameters":[' .. id .. "]}"
  else
    body = '{"id":' .. id .. "}"
  end
  return wrk.format("POST", nil, headers, body)
end
