-- The agent's store: a plain table for the agent, JSON text for the host.
--
-- Until the agent touches it the table is empty and its text unparsed, so that a call that does
-- not look at a store costs the same whatever its size. The first touch, through a metamethod or
-- one of the functions wrapped here, fills the table in place and takes the metatable off.

local json = ...
local getmetatable, next, rawget, rawlen, rawset, setmetatable = getmetatable, next, rawget, rawlen, rawset, setmetatable

local store = {}
local root, text, twin = {}, nil, {}

local function open(value)
  if text == nil or value ~= root then return end
  local source = text
  text = nil
  setmetatable(root, nil)
  json.decode_into(root, source)
  twin = json.copy(root)
end

local untouched = {
  __index = function(object, key)
    open(object)
    return rawget(object, key)
  end,
  __newindex = function(object, key, value)
    open(object)
    rawset(object, key, value)
  end,
  __pairs = function(object)
    open(object)
    return next, object, nil
  end,
  __len = function(object)
    open(object)
    return rawlen(object)
  end,
}

-- Takes over a store from the host.
function store.load(source)
  text, twin = source, nil
  root = setmetatable({}, untouched)
end

-- What the agent gets.
function store.object()
  return root
end

-- The store's JSON text if it changed, else nil.
function store.save()
  if text ~= nil or json.same(root, twin) then return nil end
  local saved = json.encode(root, "store")
  twin = json.copy(root)
  return saved
end

-- The built-ins that look at a table behind its metatable's back.
store.builtins = {
  next = function(object, ...)
    open(object)
    return next(object, ...)
  end,
  rawget = function(object, ...)
    open(object)
    return rawget(object, ...)
  end,
  rawset = function(object, ...)
    open(object)
    return rawset(object, ...)
  end,
  rawlen = function(object, ...)
    open(object)
    return rawlen(object, ...)
  end,
  getmetatable = function(object, ...)
    open(object)
    return getmetatable(object, ...)
  end,
  setmetatable = function(object, ...)
    open(object)
    return setmetatable(object, ...)
  end,
}

return store
