package io.afterbay.store.page;

import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;
import sun.misc.Unsafe;

/**
 * Off-heap memory by address. The only class that touches {@link Unsafe}: direct byte buffers would
 * count against the engine's {@code MaxDirectMemorySize}, and the foreign memory API is final only
 * from Java 22. Multi-byte values are little endian.
 */
public final class Memory {
    private static final Unsafe UNSAFE = unsafe();
    private static final long BYTES = Unsafe.ARRAY_BYTE_BASE_OFFSET;
    private static final long BUFFER_ADDRESS = bufferAddressOffset();
    private static final byte POISON = (byte) 0xdb;
    private static final AtomicLong ALLOCATED = new AtomicLong();

    static {
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new IllegalStateException(
                    "Afterbay's state store needs a little-endian processor");
        }
    }

    private Memory() {}

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static long bufferAddressOffset() {
        try {
            return UNSAFE.objectFieldOffset(Buffer.class.getDeclaredField("address"));
        } catch (NoSuchFieldException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Uninitialised memory. */
    public static long allocate(long bytes) {
        long address = UNSAFE.allocateMemory(bytes);
        ALLOCATED.addAndGet(bytes);
        return address;
    }

    /**
     * Frees what {@link #allocate} gave, with the same size. Where assertions are on, as in tests,
     * the content is destroyed first, so that nobody can go on using it unnoticed.
     */
    public static void free(long address, long bytes) {
        assert poison(address, bytes);
        UNSAFE.freeMemory(address);
        ALLOCATED.addAndGet(-bytes);
    }

    private static boolean poison(long address, long bytes) {
        UNSAFE.setMemory(address, bytes, POISON);
        return true;
    }

    /** Bytes allocated in this process and not freed yet; tests use it to find leaks. */
    public static long allocatedBytes() {
        return ALLOCATED.get();
    }

    static long addressOf(ByteBuffer direct) {
        return UNSAFE.getLong(direct, BUFFER_ADDRESS);
    }

    public static byte getByte(long address) {
        return UNSAFE.getByte(address);
    }

    public static void putByte(long address, int value) {
        UNSAFE.putByte(address, (byte) value);
    }

    /** Unsigned. */
    public static int getShort(long address) {
        return UNSAFE.getShort(address) & 0xffff;
    }

    public static void putShort(long address, int value) {
        UNSAFE.putShort(address, (short) value);
    }

    public static int getInt(long address) {
        return UNSAFE.getInt(address);
    }

    public static void putInt(long address, int value) {
        UNSAFE.putInt(address, value);
    }

    public static long getLong(long address) {
        return UNSAFE.getLong(address);
    }

    public static void putLong(long address, long value) {
        UNSAFE.putLong(address, value);
    }

    /** The ranges may overlap. */
    public static void copy(long from, long to, long bytes) {
        UNSAFE.copyMemory(from, to, bytes);
    }

    public static void read(long from, byte[] to, int offset, int length) {
        UNSAFE.copyMemory(null, from, to, BYTES + offset, length);
    }

    public static void write(byte[] from, int offset, long to, int length) {
        UNSAFE.copyMemory(from, BYTES + offset, null, to, length);
    }

    public static void zero(long address, long bytes) {
        UNSAFE.setMemory(address, bytes, (byte) 0);
    }

    /** Unsigned lexicographic comparison of memory with part of an array, of equal length. */
    public static int compare(long address, byte[] array, int offset, int length) {
        int i = 0;
        for (; i + 8 <= length; i += 8) {
            long a = UNSAFE.getLong(address + i);
            long b = UNSAFE.getLong(array, BYTES + offset + i);
            if (a != b) {
                return Long.compareUnsigned(Long.reverseBytes(a), Long.reverseBytes(b));
            }
        }
        for (; i < length; i++) {
            int difference = (UNSAFE.getByte(address + i) & 0xff) - (array[offset + i] & 0xff);
            if (difference != 0) {
                return difference;
            }
        }
        return 0;
    }
}
