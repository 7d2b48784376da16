-- The agent's store: tables for the agent, JSON text for the host, and whether a call changed it, at
-- a cost that depends on what the call did and not on how large the store is.
--
-- The tables that come from the host's text are ours alone; the agent gets an empty proxy of each,
-- the same one every time, so that no change goes unseen. What the agent puts in is its own until
-- the call ends, and returned as it is; then a copy takes its place, as if the store had come anew.
-- Text is parsed at the first look. The built-ins that look behind metatables are wrapped here.

local json = ...
local getmetatable, next, rawget, rawlen, rawset, setmetatable, type = getmetatable, next, rawget, rawlen, rawset,
  setmetatable, type

local store = {}
local fields = json.fields -- proxy -> the table of ours behind it
local proxies = setmetatable({}, { __mode = "k" }) -- the other way
local root, known -- `known`: the text that the host has
local changed = false
local special = false -- a proxy got a metatable of the agent's and its fields with it
local foreign, inserted = {}, {} -- tables the agent put in; where: owner, key, owner, key, …
local transparent = {} -- the metatable of proxies

local function open(proxy)
  if json.open(proxy) then setmetatable(proxy, transparent) end
end

local function shown(value)
  if type(value) ~= "table" or foreign[value] then return value end
  local proxy = proxies[value]
  if proxy == nil then
    proxy = setmetatable({}, transparent)
    proxies[value], fields[proxy] = proxy, value
  end
  return proxy
end

function transparent.__index(proxy, key)
  local value = fields[proxy][key]
  if type(value) == "table" then return shown(value) end
  return value
end

function transparent.__newindex(proxy, key, value)
  local object = fields[proxy]
  changed = true
  if type(value) == "table" then
    if proxies[fields[value]] == value then
      value = fields[value]
    else
      foreign[value] = true
      inserted[#inserted + 1], inserted[#inserted + 2] = object, key
    end
  end
  object[key] = value
end

function transparent.__len(proxy)
  return #fields[proxy]
end

local function following(proxy, key)
  local found, value = next(fields[proxy], key)
  return found, shown(value)
end

function transparent.__pairs(proxy)
  return following, proxy, nil
end

-- The metatable of a root that is not parsed yet.
local untouched = {}
for name, method in next, transparent do
  untouched[name] = function(proxy, ...)
    open(proxy)
    return method(proxy, ...)
  end
end

local function forget()
  changed, special = false, false
  foreign, inserted = {}, {}
end

-- Takes over a store from the host.
function store.load(source)
  known = source
  root = setmetatable({}, untouched)
  json.defer(root, source)
  proxies[fields[root]] = root
  forget()
end

-- What the agent gets.
function store.object()
  return root
end

-- The store's JSON text if it changed, else nil.
function store.save()
  if not changed then return nil end
  local saved, before = json.encode(root, "store"), known
  if special then
    store.load(saved)
  else
    for index = 1, #inserted, 2 do
      local owner, key = inserted[index], inserted[index + 1]
      if foreign[owner[key]] then json.renew(owner, key) end
    end
    forget()
  end
  known = saved
  return saved ~= before and saved or nil
end

local function is_proxy(object)
  return proxies[fields[object]] == object
end

-- Makes a proxy a table like any other: what the agent does to it goes unseen from now on.
local function materialize(proxy)
  open(proxy)
  local object = fields[proxy]
  changed, special = true, true
  setmetatable(proxy, nil)
  for key, value in next, object do rawset(proxy, key, shown(value)) end
  json.stand_in(object, proxy)
end

-- A built-in that does something else with a proxy.
local function unless_proxy(builtin, method)
  return function(object, ...)
    if object == nil or not is_proxy(object) then return builtin(object, ...) end
    open(object)
    return method(object, ...)
  end
end

store.builtins = {
  next = unless_proxy(next, following),
  rawget = unless_proxy(rawget, transparent.__index),
  rawset = unless_proxy(rawset, function(proxy, key, value)
    transparent.__newindex(proxy, key, value)
    return proxy
  end),
  rawlen = unless_proxy(rawlen, transparent.__len),
  getmetatable = unless_proxy(getmetatable, function() return nil end),
  setmetatable = unless_proxy(setmetatable, function(proxy, metatable)
    if metatable ~= nil then materialize(proxy) end
    return setmetatable(proxy, metatable)
  end),
}

return store
