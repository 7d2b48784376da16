-- JSON for Lua agents: what crosses to the host is text, and this is both directions of it.
--
-- Lua has one table type. Tables that came from JSON arrays are remembered, and so are the keys
-- that held arrays, so that an array stays one even when the agent leaves it empty or replaces it.
-- Everything here is local: an agent that changes the libraries changes only itself.

local byte, char, find, format, gsub, match, sub = string.byte, string.char, string.find, string.format, string.gsub,
  string.match, string.sub
local concat, sort = table.concat, table.sort
local math_type, tonumber, tostring, type, next, error = math.type, tonumber, tostring, type, next, error
local utf8_char, huge = utf8.char, math.huge

local MAX_DEPTH = 1000

local arrays = setmetatable({}, { __mode = "k" }) -- tables that went in as arrays
local array_keys = setmetatable({}, { __mode = "k" }) -- table -> set of keys that held arrays

local fields = setmetatable({}, { __mode = "k" }) -- table -> the one that holds its fields, if another does
local unread = setmetatable({}, { __mode = "k" }) -- table -> the text that its fields are still in

local REPLACEMENT = "\xEF\xBF\xBD" -- U+FFFD

-- Decoding -----------------------------------------------------------------------------------

local ESCAPED = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function unescape_pair(high, low)
  return utf8_char(0x10000 + ((tonumber(high, 16) - 0xD800) << 10) + (tonumber(low, 16) - 0xDC00))
end

local function unescape_one(hex)
  local code = tonumber(hex, 16)
  return code >= 0xD800 and code < 0xE000 and REPLACEMENT or utf8_char(code)
end

local function unescape(text)
  -- Two backslashes first become something that no longer looks like the start of an escape.
  text = gsub(text, "\\\\", "\\u005C")
  text = gsub(text, "\\u([dD][89abAB]%x%x)\\u([dD][c-fC-F]%x%x)", unescape_pair)
  text = gsub(text, "\\([bfnrt\"/])", ESCAPED)
  return (gsub(text, "\\u(%x%x%x%x)", unescape_one))
end

local function read_string(text, at)
  local start = at + 1
  local stop = find(text, '["\\]', start)
  if byte(text, stop) == 34 then return sub(text, start, stop - 1), stop + 1 end
  while byte(text, stop) ~= 34 do stop = find(text, '["\\]', stop + 2) end
  return unescape(sub(text, start, stop - 1)), stop + 1
end

local function skip(text, at)
  local code = byte(text, at)
  if code == 32 or code == 10 or code == 13 or code == 9 then return find(text, "[^ \n\r\t]", at) end
  return at
end

local read

local function read_array(text, at)
  local list, count = {}, 0
  arrays[list] = true
  at = skip(text, at + 1)
  if byte(text, at) == 93 then return list, at + 1, count end
  while true do
    count = count + 1
    list[count], at = read(text, at)
    at = skip(text, at)
    if byte(text, at) == 93 then return list, at + 1, count end
    at = skip(text, at + 1)
  end
end

local function read_object(text, at, object)
  local keys
  object = object or {}
  at = skip(text, at + 1)
  if byte(text, at) == 125 then return object, at + 1 end
  while true do
    local key, value
    key, at = read_string(text, at)
    at = skip(text, skip(text, at) + 1)
    if byte(text, at) == 91 then
      if not keys then
        keys = {}
        array_keys[object] = keys
      end
      keys[key] = true
    end
    value, at = read(text, at)
    object[key] = value
    at = skip(text, at)
    if byte(text, at) == 125 then return object, at + 1 end
    at = skip(text, at + 1)
  end
end

function read(text, at)
  local code = byte(text, at)
  if code == 34 then return read_string(text, at) end
  if code == 123 then return read_object(text, at) end
  if code == 91 then return read_array(text, at) end
  if code == 116 then return true, at + 4 end
  if code == 102 then return false, at + 5 end
  if code == 110 then return nil, at + 4 end
  local number = match(text, "^[-+.eE%d]+", at)
  return tonumber(number), at + #number
end

-- The value of a JSON text that is known to be valid: the host wrote it.
local function decode(text)
  return (read(text, skip(text, 1)))
end

-- The values of a JSON list, and how many there are: null is a hole.
local function decode_list(text)
  local list, _, count = read_array(text, skip(text, 1))
  return list, count
end

-- Makes a proxy of an object whose text is read later, see `open`.
local function defer(proxy, text)
  fields[proxy], unread[proxy] = {}, text
end

-- Reads the text of a proxy; false when there is none, or no more.
local function open(proxy)
  local text = unread[proxy]
  if text == nil then return false end
  unread[proxy] = nil
  read_object(text, skip(text, 1), fields[proxy])
  return true
end

-- Encoding -----------------------------------------------------------------------------------

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\" }
for code = 0, 31 do ESCAPES[char(code)] = format("\\u%04x", code) end

local function well_formed(text)
  if find(text, "\xED[\xA0-\xBF]") then return (gsub(text, "\xED[\xA0-\xBF][\x80-\xBF]", REPLACEMENT)) end
  return text
end

local function quote(text)
  text = well_formed(text)
  if find(text, '[%c"\\]') then text = gsub(text, '[%z\1-\31"\\]', ESCAPES) end
  return '"' .. text .. '"'
end

local function number_text(number)
  if math_type(number) == "integer" then return format("%d", number) end
  if number ~= number or number == huge or number == -huge then return "null" end
  local text = format("%.15g", number)
  if tonumber(text) ~= number then text = format("%.17g", number) end
  -- A float stays one when it comes back.
  return find(text, "[.e]") and text or text .. ".0"
end

local function refuse(path, reason)
  local place = concat(path)
  if #place > 120 then place = sub(place, 1, 60) .. "…" .. sub(place, -40) end
  error({ refused = place .. " " .. reason }, 0)
end

-- The length if the table is a list, else nil. A list may have holes (null) while most is there.
local function list_length(object, was_array)
  local count, top = 0, 0
  for key in next, object do
    if math_type(key) ~= "integer" or key < 1 then return nil end
    count = count + 1
    if key > top then top = key end
  end
  if count == 0 then return was_array and 0 or nil end
  return top <= 2 * count and top or nil
end

local function key_text(key, path)
  if type(key) == "string" then return key end
  if type(key) == "number" then return tostring(key) end
  refuse(path, "has a key that is a " .. type(key) .. "; use strings or numbers")
end

local encode_into

local function encode_list(list, length, out, path, above)
  out[#out + 1] = "["
  for index = 1, length do
    if index > 1 then out[#out + 1] = "," end
    path[#path + 1] = "[" .. index .. "]"
    if not encode_into(list[index], out, path, above) then out[#out + 1] = "null" end
    path[#path] = nil
  end
  out[#out + 1] = "]"
end

local function encode_object(object, out, path, above)
  local names, values = {}, {}
  for key, value in next, object do
    local name = key_text(key, path)
    if values[name] == nil then names[#names + 1] = name end
    values[name] = value
  end
  sort(names)
  local held_arrays = array_keys[object]
  out[#out + 1] = "{"
  local first = true
  for index = 1, #names do
    local name = names[index]
    local mark = #out
    out[mark + 1] = (first and "" or ",") .. quote(name) .. ":"
    path[#path + 1] = "." .. name
    if encode_into(values[name], out, path, above, held_arrays and held_arrays[name]) then
      first = false
    else
      out[mark + 1] = nil
    end
    path[#path] = nil
  end
  out[#out + 1] = "}"
end

-- Appends the value's text to `out`; false for what JSON has no word for.
function encode_into(value, out, path, above, held_array)
  local kind = type(value)
  if kind == "string" then
    out[#out + 1] = quote(value)
  elseif kind == "number" then
    out[#out + 1] = number_text(value)
  elseif kind == "boolean" then
    out[#out + 1] = value and "true" or "false"
  elseif kind == "table" then
    if fields[value] then
      open(value)
      value = fields[value]
    end
    if above[value] then refuse(path, "contains itself") end
    if #path > MAX_DEPTH then refuse({ path[1] }, "is nested deeper than " .. MAX_DEPTH) end
    above[value] = true
    local length = list_length(value, arrays[value] or held_array)
    if length then encode_list(value, length, out, path, above) else encode_object(value, out, path, above) end
    above[value] = nil
  elseif kind == "function" or kind == "nil" then
    return false
  else
    refuse(path, "is a " .. kind .. ", which has no JSON form")
  end
  return true
end

-- JSON text of a value; nil where JSON has none. `name` is what errors call it. A value that is
-- refused raises a table with the reason in `refused`.
local function encode(value, name)
  local out = {}
  return encode_into(value, out, { name }, {}) and concat(out) or nil
end

-- Replacing ----------------------------------------------------------------------------------

-- Puts in the place of a value what would come back of its JSON text.
local function renew(object, key)
  local out, held_arrays = {}, array_keys[object]
  if not encode_into(object[key], out, { "store" }, {}, held_arrays and held_arrays[key]) then
    object[key] = nil
    return
  end
  local text = concat(out)
  if byte(text) == 91 then
    array_keys[object] = held_arrays or {}
    array_keys[object][key] = true
  end
  object[key] = decode(text)
end

-- From now on the fields of `object` are those of `other`, which is a list if it was one.
local function stand_in(object, other)
  fields[object], fields[other] = other, nil
  arrays[other], array_keys[other] = arrays[object], array_keys[object]
end

return {
  decode = decode,
  decode_list = decode_list,
  defer = defer,
  encode = encode,
  fields = fields,
  open = open,
  quote = quote,
  renew = renew,
  stand_in = stand_in,
  well_formed = well_formed,
}
