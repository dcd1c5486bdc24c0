-- POST one new row. Arguments: token, "sql" or "peer", first key.
local here = debug.getinfo(1, "S").source:match("@(.*/)")
dofile(here .. "result.lua")
local headers = { ["Content-Type"] = "application/json" }
local sql, id

function init(args)
  headers["Authorization"] = "Bearer " .. args[1]
  sql = args[2] == "sql"
  id = tonumber(args[3])
end

function request()
  id = id + 1
  local body
  if sql then
    body = '{"sql":"INSERT INTO accounts (id, name, balance) VALUES ($1, $2, $3)","parameters":['
      .. id .. ',"name of ' .. id .. '",' .. id % 1000 .. "]}"
  else
    body = '{"id":' .. id .. ',"name":"name of ' .. id .. '","balance":' .. id % 1000 .. "}"
  end
  return wrk.format("POST", nil, headers, body)
end
