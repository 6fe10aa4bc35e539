-- What a script finds in the table `wrk` before it is run; the fields of the URL are set beside it.
local wrk = wrk

wrk.method = "GET"
wrk.headers = {}

-- The value of the field Host among `headers`, in whatever case.
local function host_of(headers)
  for name, value in pairs(headers) do
    if string.lower(name) == "host" then return value end
  end
end

-- A request as text. What is not given is taken from `wrk` itself; so is the field Host.
function wrk.format(method, path, headers, body)
  method = method or wrk.method
  path = path or wrk.path
  headers = headers or wrk.headers
  body = body or wrk.body
  local lines = { method .. " " .. path .. " HTTP/1.1" }
  local has_host, has_length = false, false
  -- In one order in all threads: `pairs` has another in each, and their requests would differ by that alone.
  local names = {}
  for name in pairs(headers) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    local lower, value = string.lower(name), headers[name]
    has_host = has_host or lower == "host"
    if lower == "content-length" then
      has_length = true
      if body then value = string.len(body) end
    end
    -- The length of a body that is not there keeps the server waiting; wrk takes it out, too.
    if body or name ~= "Content-Length" then
      lines[#lines + 1] = name .. ": " .. tostring(value)
    end
  end
  if not has_host then
    lines[#lines + 1] = "Host: " .. tostring(host_of(wrk.headers) or wrk.authority)
  end
  if body and not has_length then
    lines[#lines + 1] = "Content-Length: " .. string.len(body)
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = body or ""
  return table.concat(lines, "\r\n")
end

-- Called once a thread, before its first request.
function wrk.init(arguments)
  if not host_of(wrk.headers) then
    wrk.headers["Host"] = wrk.authority
  end
  if type(init) == "function" then
    init(arguments)
  end
  wrk.request_text = wrk.format()
end

-- The request that is sent where a script defines no `request`.
function wrk.request()
  return wrk.request_text
end
