package io.afterbay.store.redo;

import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.StateStore;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import java.util.Arrays;

/** A state to which records are applied. */
interface RedoState {
    /**
     * Reads the rest of a record, and applies it unless it is to be passed over.
     *
     * @return false if there is no such operation on this kind of state
     */
    boolean apply(byte op, StateKey key, RedoInput in, boolean applies);

    static RedoState open(StateStore store, StateKind kind, String name) {
        return switch (kind) {
            case VALUES -> new Values(store.values(name));
            case ALIGNED_LISTS -> new Lists(store.lists(name, ReadAlignment.ALIGNED));
            case UNALIGNED_LISTS -> new Lists(store.lists(name, ReadAlignment.UNALIGNED));
            case MAPS -> new Maps(store.maps(name));
            case TRIGGERS -> new Triggers(store.triggers(name));
        };
    }

    /** See {@link RedoState}. */
    record Values(ValueStore target) implements RedoState {
        @Override
        public boolean apply(byte op, StateKey key, RedoInput in, boolean applies) {
            if (op == RedoOp.VALUE_REMOVE) {
                if (applies) {
                    target.remove(key);
                }
                return true;
            }
            if (op != RedoOp.VALUE_PUT) {
                return false;
            }
            int length = in.readNumber();
            int from = in.skip(length);
            if (applies) {
                target.put(key, in.bytes(), from, length);
            }
            return true;
        }
    }

    /** See {@link RedoState}. */
    record Lists(ListStore target, StateKey source) implements RedoState {
        Lists(ListStore target) {
            this(target, new StateKey());
        }

        @Override
        public boolean apply(byte op, StateKey key, RedoInput in, boolean applies) {
            switch (op) {
                case RedoOp.LIST_APPEND -> append(key, in, applies);
                case RedoOp.LIST_MERGE -> merge(key, in, applies);
                case RedoOp.LIST_CLEAR -> {
                    if (applies) {
                        target.clear(key);
                    }
                }
                default -> {
                    return false;
                }
            }
            return true;
        }

        private void append(StateKey key, RedoInput in, boolean applies) {
            int framed = in.readNumber();
            int end = in.endOf(framed);
            while (in.position() < end) {
                int length = in.readNumber();
                int from = in.skip(length);
                if (applies) {
                    target.append(key, in.bytes(), from, length);
                }
            }
            if (in.position() != end) {
                throw new IndexOutOfBoundsException("the last element ends behind the elements");
            }
        }

        private void merge(StateKey key, RedoInput in, boolean applies) {
            in.readKey(source);
            if (applies) {
                target.merge(key, source);
            }
        }
    }

    /** See {@link RedoState}. */
    record Maps(MapStore target) implements RedoState {
        @Override
        public boolean apply(byte op, StateKey key, RedoInput in, boolean applies) {
            if (op == RedoOp.MAP_CLEAR) {
                if (applies) {
                    target.clear(key);
                }
                return true;
            }
            if (op != RedoOp.MAP_PUT && op != RedoOp.MAP_REMOVE) {
                return false;
            }
            int userKeyLength = in.readNumber();
            int from = in.skip(userKeyLength);
            byte[] userKey = Arrays.copyOfRange(in.bytes(), from, from + userKeyLength);
            if (op == RedoOp.MAP_PUT) {
                put(key, userKey, in, applies);
            } else if (applies) {
                target.remove(key, userKey, userKeyLength);
            }
            return true;
        }

        private void put(StateKey key, byte[] userKey, RedoInput in, boolean applies) {
            int length = in.readNumber();
            int from = in.skip(length);
            if (applies) {
                target.put(key, userKey, userKey.length, in.bytes(), from, length);
            }
        }
    }

    /** See {@link RedoState}. */
    record Triggers(TriggerSchedule target) implements RedoState {
        @Override
        public boolean apply(byte op, StateKey key, RedoInput in, boolean applies) {
            if (op != RedoOp.TRIGGER_ADD && op != RedoOp.TRIGGER_REMOVE) {
                return false;
            }
            long timestamp = in.readTimestamp();
            if (applies && op == RedoOp.TRIGGER_ADD) {
                target.add(timestamp, key);
            } else if (applies) {
                target.remove(timestamp, key);
            }
            return true;
        }
    }
}
