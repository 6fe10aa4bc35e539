-- What a script finds in the table `wrk` before it is run; the fields of the URL are set beside it.
local wrk = wrk

wrk.method = "GET"
wrk.headers = {}

-- A request as text. What is not given is taken from `wrk` itself.
function wrk.format(method, path, headers, body)
  method = method or wrk.method
  path = path or wrk.path
  headers = headers or wrk.headers
  body = body or wrk.body
  local lines = { method .. " " .. path .. " HTTP/1.1" }
  local has_host, has_length = false, false
  for name, value in pairs(headers) do
    local lower = string.lower(name)
    has_host = has_host or lower == "host"
    if lower == "content-length" then
      has_length = true
      if body then value = #body end
    end
    lines[#lines + 1] = name .. ": " .. tostring(value)
  end
  if not has_host then
    lines[#lines + 1] = "Host: " .. wrk.authority
  end
  if body and not has_length then
    lines[#lines + 1] = "Content-Length: " .. #body
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = body or ""
  return table.concat(lines, "\r\n")
end

-- Called once a thread, before its first request.
function wrk.init(arguments)
  if type(init) == "function" then
    init(arguments)
  end
  wrk.request_text = wrk.format()
end

-- The request that is sent where a script defines no `request`.
function wrk.request()
  return wrk.request_text
end
