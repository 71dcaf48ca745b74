//! `certificate DIRECTORY`: writes a certificate for localhost and its key, for tests with clients that are not Rust.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("a directory is needed")?;
    let directory = std::path::Path::new(&directory);
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names)?;
    std::fs::write(directory.join("server.pem"), made.cert.pem())?;
    std::fs::write(directory.join("server-key.pem"), made.signing_key.serialize_pem())?;
    Ok(())
}
