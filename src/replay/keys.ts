/** What the key of a value says about it. */

/** Keys whose value is the id of a user, device or geofence, and keys of lists of such ids. */
export const idKey = /(^|_)(user|manager|device|geofence)(_id|Id)s?$|^(devices|geofences|users)$/
/** Keys of objects whose own `id` is such an id. */
export const idOwnerKey = /^(user|manager|item|device|device_data|geofence|traccar|users|devices|geofences)$/
/** The responses to these actions, and what is in them; their rows may be in `items` or `data`. */
export const listKey = /^(get_)?(devices|geofences)$|^user$/
/** Keys whose whole value is one identifier. */
export const identityKey =
  /imei|unique_?id|phone|msisdn|iccid|plate|registration_number|rfid|chassis|serial|whatsapp|^(sim(_?number)?|vin|mcc|mnc|lac|cid|cell(_?id)?)$|^(tel|mobile)/i
/** Keys of texts that people write; numbers in them may be part of a name. */
export const textKey =
  /name|title|message|detail|description|address|driver|owner|comment|note|city|street|house|road|postal|postcode|zip|^(s|search|plan|geofence|zone|contact|contact_number)$/i
/** Keys of names that may be sent as a number. The id of a driver, which stays, is under some of the others. */
export const nameKey =
  /(^|_)(name|title|message|description|address|owner|comment|note|city|street|house|house_number|postal|postcode|zip|plan)$/i
/** Keys of Unix times; a phone may have as many digits. */
export const timeKey = /(time|stamp|date|since|_at|last_contact)(_ms|_utc)?$/i
/** Keys whose value is one of the platform's own words. */
export const termKey =
  /^(action|channel|color|detect_engine|distance_unit_hour|engine_hours|engine_status|expiration_by|id|item_id|lang|online|polygon_color|protocol|sort(_by)?|status|sufix|type|unit|value_unit|version)$|^unit_of_|_(color|format|type)$/
/** Keys of numbers that stay, however many decimals they have. */
export const measureKey = /distance|speed|altitude|fuel|duration|radius/
/** Types of sensors whose values are such numbers. */
export const measureType = /speed|fuel|odometer|hours|tachometer|rpm/i
/** Keys that come from a program, list indexes, and parameters that are lists or have parts. */
export const plainKey = /^([a-z_]+\d{0,4}|[a-z]+([A-Z][a-z]+)+|\d{1,7})(\[[a-z_]{0,20}\])?(\[\d{0,4}\])?$/
